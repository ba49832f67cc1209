// Dry runs for the console of `outrigger dev`: the command `outrigger replay --dry-run` on the system of this process.
import type { ActionDeps } from '../console/actions.ts';
import type { Dev } from '../dev/system.ts';
import { environment } from '../settings.ts';
import { dryRunOf } from './dry-run/plan.ts';
import { endLines } from './dry-run/report.ts';
import { settingsOf } from './installation.ts';
import { readProjectName } from './project.ts';

/** Makes the dry run of the local system. */
export function devDryRun({ client, state }: Pick<Dev, 'client' | 'state'>): Pick<ActionDeps, 'dryRun'> {
  return {
    dryRun: async (controller, body, signal) => {
      const settings = { ...environment(), ...settingsOf(state()) };
      const project = await readProjectName(process.cwd());
      return endLines(await dryRunOf(controller, { project, environment: settings }, client, { body, signal }));
    },
  };
}
