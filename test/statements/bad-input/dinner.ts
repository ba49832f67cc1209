// Dinner's bad input: what an Ingredient refuses, its lines refuse too, and each has to name a child.
import { Dinner } from '../../../src/controllers/dinner.ts';
import { type BadInput, badName, longestName, without } from './bad-input.ts';

const line = { name: 'salt', item: 'salt', amount: 1, unit: 'tbsp' };
const good = { ingredients: [line] };
const lines = (...ingredients: readonly object[]) => ({ ingredients });
const first = 'spec.ingredients[0]';
const numbered = (count: number) => Array.from({ length: count }, (_, index) => ({ ...line, name: `salt-${index}` }));

export const dinnerInput: BadInput = {
  kind: Dinner,
  id: 'I6',
  good,
  refused: [
    { what: 'ingredients missing', spec: {}, fields: ['spec.ingredients'], says: 'Required' },
    { what: 'ingredients []', spec: lines(), fields: ['spec.ingredients'] },
    { what: '51 ingredients', spec: lines(...numbered(51)), fields: ['spec.ingredients'] },
    { what: 'ingredients as one object', spec: { ingredients: line }, fields: ['spec.ingredients'] },
    { what: 'the same name twice', spec: lines(line, line), fields: ['spec.ingredients[1]'], says: 'Duplicate value' },
    { what: 'a line without a name', spec: lines(without(line, 'name')), fields: [`${first}.name`], says: 'Required' },
    { what: 'a line’s name "a.b"', spec: lines({ ...line, name: 'a.b' }), fields: [`${first}.name`] },
    { what: 'a line’s name of 64 letters', spec: lines({ ...line, name: 'a'.repeat(64) }), fields: [`${first}.name`] },
    { what: 'a line’s amount 0', spec: lines({ ...line, amount: 0 }), fields: [`${first}.amount`] },
    { what: 'a line’s amount "1"', spec: lines({ ...line, amount: '1' }), fields: [`${first}.amount`] },
    { what: 'a line’s unit "handful"', spec: lines({ ...line, unit: 'handful' }), fields: [`${first}.unit`] },
    { what: 'a line’s item ""', spec: lines({ ...line, item: '' }), fields: [`${first}.item`] },
    badName('a'.repeat(64), good, 'a name has at most 63 characters'),
  ],
  taken: [
    longestName(63, good),
    { what: '50 ingredients', spec: lines(...numbered(50)), stored: lines(...numbered(50)) },
  ],
};
