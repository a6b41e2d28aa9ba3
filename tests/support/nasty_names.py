"""Names of variables that would do harm if a page took them as anything but text."""

NASTY = (
    "<script>alert(1)</script>",
    "quo\"te's & <b>bold</b>",
    "naïve Größe 温度",
    "x" * 300,
    "line\u2028separator</script><!--",
    "\u202eright to left",
    "tab\tand\nnewline",
    "{{title}} ${x} $a^b$",
)
