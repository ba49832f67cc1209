// f4: what a reconcile of a converged object asks of the API server and of the world outside. Counted, so it does not depend on
// the machine.
import { dinnerKind } from '../../src/controllers/dinner.ts';
import { ingredientKind } from '../../src/controllers/ingredient.ts';
import { waterTankKind } from '../../src/controllers/water-tank.ts';
import type { Kind } from '../../src/core/kind.ts';
import { startApiServer } from '../../src/local/api-server/server.ts';
import { install, type System, startSystem } from '../statements/harness.ts';
import type { Row } from './row.ts';

const salt = { item: 'salt', amount: 1, unit: 'tbsp' };

/** Counts the requests of a converged reconcile of each kind. */
export async function f4(): Promise<readonly Row[]> {
  const server = await startApiServer();
  const connection = { server: new URL(server.url) };
  try {
    await install(connection);
    const system = await startSystem(connection);
    try {
      await system.apply(waterTankKind, 'tank', { targetLevel: 0, capacity: 100 });
      await system.apply(ingredientKind, 'salt', salt);
      await system.apply(dinnerKind, 'soup', { ingredients: [{ name: 'salt', ...salt }] });
      await system.reconcile(dinnerKind, 'soup');
      await system.reconcile(ingredientKind, 'salt', 'soup-salt');
      await system.reconcile(dinnerKind, 'soup');
      return [
        await converged(system, waterTankKind, 'tank', 0),
        await converged(system, ingredientKind, 'salt', 0),
        await converged(system, dinnerKind, 'soup', 1),
      ];
    } finally {
      await system.end();
    }
  } finally {
    await server.close();
  }
}

async function converged(system: System, kind: Kind, name: string, owned: number): Promise<Row> {
  await system.reconcile(kind, name);
  system.requests.length = 0;
  await system.reconcile(kind, name);
  const methods = system.requests.map((request) => request.split(' ')[0]);
  const reads = methods.filter((method) => method === 'GET').length;
  return {
    figure: 'f4',
    what: `requests of a converged ${kind.kind}`,
    ours: `${reads} GET, ${methods.length - reads} writes`,
    goal: `${1 + owned} GET, 0 writes`,
  };
}
