"""Words as they stand in host names: English ones, and what people call their machines. Of them `lettering` learns
which letters follow which."""

from __future__ import annotations

from typing import Final

WORDS: Final = tuple(
    """
    about access account action active address admin adobe after agent akamai album alert alpha amazon analytics android
    animal answer apple archive area art article asia asset audio auth auto autodiscover award azure baby back backup
    bank base beach beauty beta billing black blog blue board book border bottom brand bridge broadcast browser build
    business buy cache calendar call camera camp campaign capital card care career cart case cash catalog center central
    change channel charge chat check chicago child china choice church cisco city class clean click client cloud club
    code coffee collect college color comment commerce community company compare computer config connect consumer
    contact content control cook corner corp country course cover create credit crystal customer daily dallas data date
    deal debug delivery demo deploy design desktop develop device dialog digital direct directory discount discover
    display doctor document domain door download dream drive early earth east easy economy edge education electric email
    empire energy engine english enterprise entertain europe event exchange expert explore express extra face facebook
    factory family farm fashion fast feed field file film final finance find fire first fish fitness flash flight flower
    fly food football force foreign forest form forum forward frame france free fresh friend front fund future gallery
    game garden gate gateway general german ghost gift girl give global gold good google government grand graphics great
    green group growth guard guide hair hand happy hardware health heart help herald hero high history holiday home
    hospital host hotel house hub human image import india industry info inside insight instagram instant institute
    insurance inter international internet investor island italy item japan jobs john journal junior keep key king
    kitchen label land language launch law leader learn legal letter level library life light line link linkedin linux
    list little live load local location lock login london long love lucky lunch machine magazine mail main manage
    manager map market master match matrix media medical meet member memory message meta metal metric micro microsoft
    military mind mine mirror mobile model modern monday money monitor month moon motor mountain mouse movie music
    myself name nation national nature netflix network never news newsletter next night node nokia north note notice
    number object ocean offer office official online open operation optimizer option oracle order organic origin outdoor
    outlook owner pack page paint panel paper parent park part partner party pass password path patient payment people
    perfect person phone photo picture pixel place plan planet platform play player please plus point police policy pool
    popular port portal position post power premium prepare president press price prime print private process product
    professional profile program project promo proof property protect provider proxy public pull purchase push quality
    query quick radio rain random rank rate read real record recovery red region register registration relay release
    remote rental report request research reserve resource response rest result retail return review right river road
    rock room root route royal rule safe sale sample samsung save scan schedule school science score screen script
    search season second section secure security select self sell send senior sensor server service session settings
    seven shadow shape share shield shipping shoe shop short show side sign signal silver simple single site smart smile
    snap social society soft software solution song sony sound source south space spark special speed sport spring staff
    stage standard star start state static statistics status stay stock stone storage store story stream street strong
    student studio style submit sugar summer sun super supplier support survey sweet switch symbol sync system table tag
    talk target task team tech technology telemetry television term test text thanks theatre thing think ticket time
    title today token tool top touch tour town toy toyota track trade traffic train transfer translate travel tree trend
    trip truck true trust turbo twitter type under union unit united universe university update upgrade upload urban
    user vacation valley value vault vector vehicle verify version video view village vision visit visual voice vote
    wallet warehouse watch water weather web website wedding week welcome west wheel white wide wild window windows
    winner winter wire wireless wolf woman wonder wood word work worker workshop world write yahoo year yellow young
    youtube zone
    """.split()  # noqa: SIM905 - a list of one word a line would be as long as all the rest
)
