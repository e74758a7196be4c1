/** Messages of all kinds, to be sent in turn. */
export const TEXTS: readonly string[] = [
    'The scale is one place, both themes come from it:\n```css\n:root {\n    color-scheme: light dark;\n    --accent: light-dark(oklch(0.525 0.14 40), oklch(0.755 0.115 50));\n}\n```',
    '```python\nasync def import_lines(path: Path) -> int:\n    """Read one record per line; an empty line ends the file."""\n    count = 0\n    async for line in read(path):\n        record = parse(line)  # raises on ""\n        count += 1\n    return count\n```',
    'The expected cost is $$\\sum_{i=1}^{n} \\frac{1}{i} \\approx \\ln n$$, so large files feel it most:\n```math\n\\int_0^1 \\frac{\\ln(1+x)}{x}\\,dx = \\frac{\\pi^2}{12}\n```',
    '| Accent | On paper | On dark |\n|:---|---:|---:|\n| Terracotta | 5.6 | 8.1 |\n| Teal | 4.9 | 7.0 |\n| Plum | 6.3 | 5.2 |',
    '> Terracotta it is.\n\nLovely. One wish: `--unread` and `--accent` stay two names :tada: :+1:',
    '1. Migration rehearsed\n2. Release notes\n    - in English\n    - in Spanish\n3. Thank the translators',
    '```spoiler What happens at the end of the film\nThe importer imports itself.\n```',
    'Details: https://example.org/importer and <time:2026-11-20T15:00:00+01:00>. *Soon*, **really** soon, ~~never~~.',
    'يبدو رائعًا! اللون الدافئ مريح للعين في الليل.',
    'A long one. '.repeat(60),
    '/me brings an umbrella either way',
    'Yes.',
]
