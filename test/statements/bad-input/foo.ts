// Foo's bad input.
import { Foo } from '../../../src/controllers/foo.ts';
import { type BadInput, badName, longestName, without } from './bad-input.ts';

const good = { deploymentName: 'web', replicas: 2 };
const named = (deploymentName: unknown) => ({ ...good, deploymentName });
const replicas = ['spec.replicas'];
const name = ['spec.deploymentName'];

export const fooInput: BadInput = {
  kind: Foo,
  id: 'F',
  good,
  refused: [
    { what: 'replicas 0', spec: { ...good, replicas: 0 }, fields: replicas, says: 'greater than or equal to 1' },
    { what: 'replicas 11', spec: { ...good, replicas: 11 }, fields: replicas, says: 'less than or equal to 10' },
    { what: 'replicas "2"', spec: { ...good, replicas: '2' }, fields: replicas, says: 'must be of type integer' },
    { what: 'replicas 1.5', spec: { ...good, replicas: 1.5 }, fields: replicas, says: 'must be of type int' },
    { what: 'no deploymentName', spec: without(good, 'deploymentName'), fields: name, says: 'Required' },
    { what: 'deploymentName ""', spec: named(''), fields: name },
    { what: 'deploymentName "a_B"', spec: named('a_B'), fields: name, says: 'should match' },
    { what: 'deploymentName of 64 letters', spec: named('a'.repeat(64)), fields: name },
    badName('a'.repeat(64), good, 'a name has at most 63 characters'),
  ],
  taken: [
    longestName(63, good),
    { what: 'no replicas', spec: without(good, 'replicas'), stored: { deploymentName: 'web' } },
  ],
};
