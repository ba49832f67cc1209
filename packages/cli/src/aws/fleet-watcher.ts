// The template of the fleet watcher's stack, fleet-watcher.yaml next to this file.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { readYaml } from '@outrigger/common/yaml/read';
import { rolePath } from './names.ts';

/** Makes the template for a project. */
export function fleetWatcherStack(project: string): object {
  // The package has the sources next to what was compiled of them.
  const text = readFileSync(path.join(import.meta.dirname, '../../src/aws/fleet-watcher.yaml'), 'utf8');
  return Object(readYaml(text.replaceAll('PROJECT', project).replace('ROLE_PATH', rolePath.source)));
}
