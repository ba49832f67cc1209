// Whether the page is light or dark: by what the system prefers, and by what the person has chosen.
import { afterEach, expect, it, vi } from 'vitest';

afterEach(() => void vi.unstubAllGlobals());

it.each([
  ['dark', null, ['dark', 'light', 'light light', 'dark dark', 'auto light']],
  ['light', 'no theme', ['light', 'dark', 'light light', 'dark dark', 'auto dark']],
  ['dark', 'light', ['light', 'light', 'dark dark', 'auto light', 'light light']],
  ['light', 'dark', ['dark', 'dark', 'auto dark', 'light light', 'dark dark']],
])('on a %s system with %j chosen: the page, the page after the system changes, and after the button', async (prefers, chosen, expected) => {
  vi.resetModules();
  const system = Object.assign(new EventTarget(), { matches: prefers === 'dark' });
  const dataset: { theme?: string } = {};
  const storage = { theme: chosen };
  vi.stubGlobal('matchMedia', () => system);
  vi.stubGlobal('document', { documentElement: { dataset } });
  vi.stubGlobal('localStorage', {
    getItem: () => storage.theme,
    setItem: (_: string, theme: string) => Object.assign(storage, { theme }),
  });
  const { isDark, nextTheme, startTheme } = await import('@outrigger/cli/console/page/theme');
  startTheme();
  const seen = [dataset.theme];
  system.matches = !system.matches;
  system.dispatchEvent(new Event('change'));
  seen.push(dataset.theme);
  for (let press = 0; press < 3; press += 1) {
    nextTheme();
    seen.push(`${storage.theme} ${dataset.theme}`);
  }
  expect(seen).toEqual(expected);
  expect(isDark.value).toBe(dataset.theme === 'dark');
});
