// The project that a command works on: the folder that it is run in. The command may come out of the package, so the controllers are not
// among its own modules: it asks the folder for them.
import { access } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import * as z from 'zod';
import type { Registered } from '../core/controller.ts';
import { toError } from '../core/errors.ts';
import { redact } from '../core/redact.ts';
import type { AnyResource } from '../core/resource.ts';
import { formatProblems } from '../core/zod-problems.ts';
import { isRecord } from '../kube/record.ts';
import { OperatorProblem } from './operate.ts';

/** The list of controllers; without it there is no project. */
export const registryFile = 'src/controllers/registry.ts';

/** What a project is made of. */
export type Project = {
  readonly registry: readonly Registered[];
  /** Those without a controller. */
  readonly kindsAlone: readonly AnyResource[];
};

const controller = z.custom<Registered>(
  (one) => isRecord(one) && typeof one.name === 'string' && isRecord(one.declares),
  'is no controller; make it with defineController',
);
const kind = z.custom<AnyResource>(
  (one) => isRecord(one) && typeof one.plural === 'string' && isRecord(one.definition),
  'is no kind; make it with defineResource',
);
const project = z.object({ registry: z.array(controller), kindsAlone: z.array(kind).default([]) });

/** Loads the registry of a folder. Throws OperatorProblem where there is none, or none that can be loaded. */
export async function loadProject(root: string): Promise<Project> {
  const file = path.join(root, registryFile);
  const isThere = await access(file).then(
    () => true,
    () => false,
  );
  if (!isThere) throw new OperatorProblem(`there is no ${registryFile} here; run it in the folder of the project`);
  let loaded: unknown;
  try {
    loaded = await import(pathToFileURL(file).href);
  } catch (error) {
    throw new OperatorProblem(`${registryFile} cannot be loaded: ${redact(toError(error).message)}`, { cause: error });
  }
  const parsed = project.safeParse({ ...Object(loaded) });
  if (!parsed.success) throw new OperatorProblem(`${registryFile}: ${formatProblems(parsed.error)}`);
  return parsed.data;
}
