// The template of the fleet watcher's stack, fleet-watcher.yaml next to this file.
import { readYaml } from '@outrigger/common/yaml/read';
import { rolePath } from './names.ts';
import { ownFile } from './own-file.ts';

/** Makes the template for a project. */
export function fleetWatcherStack(project: string): object {
  const text = ownFile('fleet-watcher.yaml').replaceAll('PROJECT', project).replace('ROLE_PATH', rolePath.source);
  return Object(readYaml(text));
}
