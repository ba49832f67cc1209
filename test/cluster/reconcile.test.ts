// The reconcile cases on the real kube-apiserver.
import { describe, inject } from 'vitest';
import '../../tools/control-plane/global-setup.ts';
import { reconcileCases } from '../reconciling/reconcile-cases.ts';
import { reconcileFamilyCases } from '../reconciling/reconcile-family-cases.ts';

const { url, ca, adminToken } = inject('controlPlane');
const connect = () => ({ server: new URL(url), ca, token: async () => adminToken });
describe('reconcile of an object', () => reconcileCases(connect));
describe('reconcile of an object with children', () => reconcileFamilyCases(connect));
