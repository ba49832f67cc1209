// Opens a URL in the browser of the person at this machine.
import { spawn } from 'node:child_process';

const programs: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/** Opens the URL. `say` receives a line if there is no program that could; the URL can then be copied. */
export function openInBrowser(url: string, say: (text: string) => void): void {
  const [program, ...first] = programs[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...first, url], { stdio: 'ignore', detached: true });
  child.once('error', () => say(`${program} cannot be started: open the console's URL yourself`));
  child.unref();
}
