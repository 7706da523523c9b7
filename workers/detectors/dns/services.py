"""Services that people ask about things by DNS: what they look up stands in the name, by design.

Their owners answer for these domains, so nobody else can tunnel to himself through them: reputation of files, mail,
addresses and links, and measurements of resolvers and networks by names that nobody has asked for before.
"""

from __future__ import annotations

from typing import Final

ASKED_BY_NAME: Final = (
    *("spamhaus.org", "spamhaus.net", "surbl.org", "uribl.com", "spamcop.net", "sorbs.net", "barracudacentral.org"),
    *("abuse.ch", "dnswl.org", "mailspike.net", "mailspike.org", "njabl.org", "senderbase.org", "invaluement.com"),
    *("abuseat.org", "uceprotect.net", "backscatterer.org", "gbudb.net", "spameatingmonkey.net", "senderscore.com"),
    *("mcafee.com", "trellix.com", "sophosxl.net", "trendmicro.com", "e5.sk", "eset.com", "avast.com", "f-secure.com"),
    *("cymru.com", "webcfs00.com", "webcfs03.com", "barracudabrts.com", "habeas.com", "bondedsender.org"),
    *("dnscrypt.info", "opendns.com", "umbrella.com", "dns-oarc.net", "dnsleaktest.com", "ipleak.net"),
    *("gstatic.com", "footprintdns.com"),
)
"""Registered domains."""
