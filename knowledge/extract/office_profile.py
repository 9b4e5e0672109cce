"""The profile that LibreOffice starts with: macros, links, Java and everything that asks or calls home switched off."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

DEAD_PROXY = ("127.0.0.1", 9)  # the discard port, on which nothing listens

# (node, property, value)
_SETTINGS = (
    ("/org.openoffice.Office.Common/Security/Scripting", "MacroSecurityLevel", "3"),
    ("/org.openoffice.Office.Common/Security/Scripting", "DisableMacrosExecution", "true"),
    ("/org.openoffice.Office.Common/Security/Scripting", "DisableActiveContent", "true"),
    ("/org.openoffice.Office.Common/Security/Scripting", "BlockUntrustedRefererLinks", "true"),
    ("/org.openoffice.Office.Common/Security/Scripting", "DisablePythonRuntime", "true"),
    ("/org.openoffice.Office.Common/Misc", "UseOpenCL", "false"),
    ("/org.openoffice.Office.Common/Misc", "FirstRun", "false"),
    ("/org.openoffice.Office.Common/Misc", "CrashReport", "false"),
    ("/org.openoffice.Office.Common/Save/URL", "FileSystem", "true"),
    ("/org.openoffice.Office.Writer/Content/Update", "Link", "2"),  # never
    ("/org.openoffice.Office.Writer/Content/Update", "Field", "false"),
    # where no network namespace can be had: everything goes to a proxy that is not there
    ("/org.openoffice.Inet/Settings", "ooInetProxyType", "2"),
    ("/org.openoffice.Inet/Settings", "ooInetHTTPProxyName", DEAD_PROXY[0]),
    ("/org.openoffice.Inet/Settings", "ooInetHTTPProxyPort", str(DEAD_PROXY[1])),
    ("/org.openoffice.Inet/Settings", "ooInetHTTPSProxyName", DEAD_PROXY[0]),
    ("/org.openoffice.Inet/Settings", "ooInetHTTPSProxyPort", str(DEAD_PROXY[1])),
    ("/org.openoffice.Inet/Settings", "ooInetFTPProxyName", DEAD_PROXY[0]),
    ("/org.openoffice.Inet/Settings", "ooInetFTPProxyPort", str(DEAD_PROXY[1])),
    ("/org.openoffice.Inet/Settings", "ooInetNoProxy", ""),
    ("/org.openoffice.Office.Java/VirtualMachine", "Enable", "false"),
    ("/org.openoffice.Setup/L10N", "ooSetupSystemLocale", "ko-KR"),  # old files without a code page are Korean
    ("/org.openoffice.Office.Linguistic/General", "DefaultLocale_CJK", "ko-KR"),
)


def write_profile(folder: Path) -> None:
    """Makes the user folder of a new profile at `folder`."""
    items = "".join(
        f'<item oor:path="{escape(node)}"><prop oor:name="{name}" oor:op="fuse">'
        f"<value>{escape(value)}</value></prop></item>\n"
        for node, name, value in _SETTINGS
    )
    user = folder / "user"
    user.mkdir(parents=True, mode=0o700)
    (user / "registrymodifications.xcu").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" '
        f'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">\n{items}</oor:items>\n',
        encoding="utf-8",
    )
