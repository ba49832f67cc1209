// WaterTank's bad input.
import { WaterTank } from '../../../src/controllers/water-tank.ts';
import { type BadInput, without } from './bad-input.ts';

const good = { targetLevel: 40, capacity: 100, tolerance: 0.5 };
const target = ['spec.targetLevel'];

export const waterTankInput: BadInput = {
  kind: WaterTank,
  id: 'W',
  good,
  refused: [
    { what: 'no targetLevel', spec: without(good, 'targetLevel'), fields: target, says: 'Required' },
    { what: 'targetLevel "40"', spec: { ...good, targetLevel: '40' }, fields: target, says: 'must be of type number' },
    { what: 'targetLevel -1', spec: { ...good, targetLevel: -1 }, fields: target },
    {
      what: 'targetLevel above capacity',
      spec: { ...good, targetLevel: 101 },
      fields: target,
      says: 'targetLevel must not be above capacity',
    },
    { what: 'no capacity', spec: without(good, 'capacity'), fields: ['spec.capacity'], says: 'Required' },
    { what: 'capacity 0', spec: { ...good, targetLevel: 0, capacity: 0 }, fields: ['spec.capacity'] },
    { what: 'tolerance equal to capacity', spec: { ...good, tolerance: 100 }, fields: ['spec.tolerance'] },
    { what: 'tolerance -1', spec: { ...good, tolerance: -1 }, fields: ['spec.tolerance'] },
  ],
  taken: [
    { what: 'no tolerance', spec: without(good, 'tolerance'), stored: { tolerance: 0.5 } },
    { what: 'tolerance null', spec: { ...good, tolerance: null }, stored: { tolerance: 0.5 } },
    { what: 'targetLevel 0', spec: { ...good, targetLevel: 0 }, stored: { targetLevel: 0 } },
    { what: 'targetLevel equal to capacity', spec: { ...good, targetLevel: 100 }, stored: { targetLevel: 100 } },
  ],
};
