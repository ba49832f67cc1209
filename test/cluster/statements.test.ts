// The samples' statements on the real kube-apiserver.
import { inject } from 'vitest';
import '../../tools/control-plane/global-setup.ts';
import { badInputCases } from '../statements/bad-input-cases.ts';
import { dinnerCases } from '../statements/dinner-cases.ts';
import { ingredientCases } from '../statements/ingredient-cases.ts';
import { poisonCases } from '../statements/poison-cases.ts';
import { wakeCases } from '../statements/wake-cases.ts';
import { waterTankCases } from '../statements/water-tank-cases.ts';

const { url, ca, adminToken } = inject('controlPlane');
const connect = () => ({ server: new URL(url), ca, token: async () => adminToken });

waterTankCases(connect);
ingredientCases(connect);
poisonCases(connect);
dinnerCases(connect);
badInputCases(connect);
wakeCases(connect);
