// Texts that readers of YAML disagree on, for the tests of reading and writing.

/** Texts, as a schema may have them as a name, an enum, a default or a description. Each is written and read back. */
export const hostileTexts: readonly string[] = [
  ...['on', 'off', 'yes', 'No', 'y', 'N', 'true', 'FALSE', 'null', '~', '', '=', '<<', 'nan', '.NaN', '-.inf'],
  ...['2024-01-01', '2024-01-01T00:00:00Z', '12:30:45', '017', '08', '0o7', '0x1F', '0b11', '1_000', '1e3', '.5', '+1'],
  ...['-', '- a', '? a', ': a', 'a: b', 'a:', 'a #b', '#a', '&a', '*a', '!a', '!!int 1', '|', '> ', '%a', '@a', '`a`'],
  ...[
    '"a"',
    "'a'",
    'a"b',
    '\\n',
    '[a',
    ']',
    '{a',
    '}',
    'a, b',
    '---',
    '--- a',
    '...',
    '{{ .Values.image }}',
    '{{- "a" -}}',
  ],
  ...[
    '$(VAR)',
    `\${self:service}`,
    ' a',
    'a ',
    '\ta',
    'a\tb',
    'a\nb',
    'a\n',
    '\na',
    'a\n  b\n\n c',
    'a\n\tb',
    'a\n---\nb',
    'a\r\nb',
  ],
  ...[
    'a\u0085b',
    'a\u2028b',
    '\u2029',
    '\u0000\u001b',
    '\u007f\u009f',
    '\u00a0',
    '\ufeffa',
    '\uffff',
    '\u{1f600}',
    'größe',
    '日本',
  ],
  ...[
    '__proto__',
    'constructor',
    'IMAGE_VALUE',
    'word '.repeat(60),
    'a: b # c '.repeat(40),
    `${'long'.repeat(80)} end`,
  ],
];

/** Texts of YAML with the documents that kubectl reads in them; undefined for those that it refuses. */
export const readings: readonly (readonly [text: string, documents: readonly unknown[] | undefined])[] = [
  ['[on, Off, y, N, yes, NO, oN, yEs]', [[true, false, true, false, true, false, 'oN', 'yEs']]],
  ['[017, 08, 0o17, 0x1F, -0b11, 1_000, +1, 1e3, .5, 1., 1_0.5]', [[15, 8, 15, 31, -3, 1000, 1, 1000, 0.5, 1, 10.5]]],
  [
    '[12:30:45, 2024-01-01, 2024-01-01T00:00:00Z, 1e999, ._5, _1, =]',
    [['12:30:45', '2024-01-01', '2024-01-01T00:00:00Z', '1e999', '._5', '_1', '=']],
  ],
  [
    '[~, null, Null, nULL, "on", \'1\', !!str 1, !!int "1", !custom on]',
    [[null, null, null, 'nULL', 'on', '1', '1', 1, 'on']],
  ],
  ['on: 1\n010: 2\n1.50: 3\n"on": 4\n', [{ true: 1, 8: 2, 1.5: 3, on: 4 }]],
  ['a: 1\nb: 2\na: 3\n', [{ a: 3, b: 2 }]],
  ['x: &x {a: 1, b: 1}\nz:\n  a: 2\n  <<: *x\n  b: 2\n', [{ x: { a: 1, b: 1 }, z: { a: 1, b: 2 } }]],
  ['x: &x {a: 1}\nz: {<<: [{a: 2}, *x, {c: 3}]}\n', [{ x: { a: 1 }, z: { a: 2, c: 3 } }]],
  ['a: "b\u2028c"\n', [{ a: 'b\u2028c' }]],
  ['a: b\u0085c: d\n', [{ a: 'b', c: 'd' }]],
  ['a: |\r\n  b\r\n  c\r\n', [{ a: 'b\nc\n' }]],
  ['\ufeffa: 1\n--- # second\nb: 2\n---\n# nothing\n---\n', [{ a: 1 }, { b: 2 }]],
  ['a: 1\n...\nb: 2\n', [{ a: 1 }]],
  ['{"a": "on", "b": 1e2, "c": "\u2028"}', [{ a: 'on', b: 100, c: '\u2028' }]],
  ['a:\tb\n', [{ a: 'b' }]],
  ...[
    'a:\n\tb: 1\n',
    '-\tb: 1\n',
    'a: 1\n\t\nb: 2\n',
    'a: |\n  \tb\n',
    'a: \u0007\n',
    'a: .inf\n',
    '~: 1\n',
    '[a]: 1\n',
  ].map(refused),
  ...[
    '%YAML 1.2\n---\na: 1\n',
    'a: 1\n--- b: 2\n',
    'a: *x\n',
    'a: &a [*a]\n',
    '<<: 1\n',
    'a: !!int b\n',
    'a: "b\n',
  ].map(refused),
];

function refused(text: string): readonly [string, undefined] {
  return [text, undefined];
}
