// Ingredient's bad input.
import { Ingredient } from '../../../src/controllers/ingredient.ts';
import { type BadInput, without } from './bad-input.ts';

const good = { item: 'salt', amount: 1, unit: 'tbsp' };
const amount = ['spec.amount'];

export const ingredientInput: BadInput = {
  kind: Ingredient,
  id: 'I',
  good,
  refused: [
    { what: 'amount 0', spec: { ...good, amount: 0 }, fields: amount },
    { what: 'amount -1', spec: { ...good, amount: -1 }, fields: amount },
    { what: 'amount "1"', spec: { ...good, amount: '1' }, fields: amount, says: 'must be of type number' },
    { what: 'amount 1e308', spec: { ...good, amount: 1e308 }, fields: amount, says: 'less than or equal to 1e+06' },
    { what: 'no amount', spec: without(good, 'amount'), fields: amount, says: 'Required' },
    { what: 'unit "handful"', spec: { ...good, unit: 'handful' }, fields: ['spec.unit'], says: 'Unsupported value' },
    { what: 'no unit', spec: without(good, 'unit'), fields: ['spec.unit'], says: 'Required' },
    { what: 'item ""', spec: { ...good, item: '' }, fields: ['spec.item'], says: 'at least 1 chars long' },
    { what: 'no item', spec: without(good, 'item'), fields: ['spec.item'], says: 'Required' },
  ],
};
