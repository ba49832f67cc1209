// Only the diff of an object's YAML: which lines a dry run's fields add and remove.

import { diffLines, objectYaml, plannedYaml } from '@outrigger/cli/console/planned-yaml';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parse } from 'yaml';

const tank = {
  metadata: { name: 'north', labels: { 'app.kubernetes.io/name': 'a' }, managedFields: [{ manager: 'outrigger' }] },
  spec: { targetLevel: 30 },
  status: { level: 3, valves: ['a', 'b'], conditions: [{ type: 'Ready', status: 'False', reason: 'BelowTarget' }] },
};
const changed = (...fields: Parameters<typeof plannedYaml>[1]) =>
  plannedYaml(tank, fields)
    .filter(({ mark }) => mark !== ' ')
    .map(({ mark, text }) => `${mark}${text}`);

it('the planned YAML has no managed fields, and no mark if nothing is written', () => {
  const lines = plannedYaml(tank, []);
  expect(lines.map(({ mark }) => mark)).toEqual(lines.map(() => ' '));
  expect(lines.map(({ text }) => text).join('\n')).not.toContain('manager');
});

it.each([
  ['a value', { path: 'status.level', before: 3, after: 4 }, ['-  level: 3', '+  level: 4']],
  ['a removed field', { path: 'status.level', before: 3 }, ['-  level: 3']],
  ['a new field below a new one', { path: 'status.pump.state', after: 'on' }, ['+  pump:', '+    state: "on"']],
  [
    'a field of a condition',
    { path: 'status.conditions[Ready].status', before: 'False', after: 'True' },
    ['-      status: "False"', '+      status: "True"'],
  ],
  [
    'a new condition',
    { path: 'status.conditions[AtLevel].status', after: 'True' },
    ['+    - type: AtLevel', '+      status: "True"'],
  ],
  ['a list', { path: 'status.valves', before: ['a', 'b'], after: ['a', 'c'] }, ['-    - b', '+    - c']],
  ['a label', { path: 'metadata.labels.a.b/c.d', after: 'x' }, ['+    a.b/c.d: x']],
  [
    'a known label',
    { path: 'metadata.labels.app.kubernetes.io/name', before: 'a', after: 'b' },
    ['-    app.kubernetes.io/name: a', '+    app.kubernetes.io/name: b'],
  ],
  ['finalizers', { path: 'metadata.finalizers', after: ['x'] }, ['+  finalizers:', '+    - x']],
])('the planned YAML marks the change of %s', (_, field, lines) => {
  expect(changed(field)).toEqual(lines);
});

it('the lines of the planned YAML without + are always the text before, and those without - the text after', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 });
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = diffLines(before, after);
      expect(lines.filter(({ mark }) => mark !== '+').map((one) => one.text)).toEqual(before);
      expect(lines.filter(({ mark }) => mark !== '-').map((one) => one.text)).toEqual(after);
    }),
  );
});

it('H6: text that turns the direction of a line is escaped in the YAML, which is the same document', () => {
  const object = { metadata: { name: 'a', annotations: { a: 'x\u202ey', b: 'two\nlines\u2066' } } };
  const text = objectYaml(object);
  expect(text).not.toMatch(/\p{Cf}/u);
  expect(parse(text)).toEqual(object);
});
