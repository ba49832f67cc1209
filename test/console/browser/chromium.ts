// A real browser for the tests. A page that logs an error, such as a violation of the Content-Security-Policy, fails its
// test.
import { type Browser, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';

/** Starts the browser. Throws playwright's error if it is not installed: `apt-get install chromium`. */
export async function startBrowser(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  // Root has no sandbox, and containers have none either.
  return await chromium.launch({ executablePath, args: ['--no-sandbox'] });
}

/** Opens a page. `problems` are the errors and warnings that the browser has logged. */
export async function openPage(
  browser: Browser,
  url: string,
  { colorScheme = 'light', width = 1440 }: { readonly colorScheme?: 'light' | 'dark'; readonly width?: number } = {},
): Promise<{ readonly page: Page; readonly problems: readonly string[] }> {
  const page = await browser.newPage({ colorScheme, viewport: { width, height: 960 } });
  const problems: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text());
  });
  page.on('pageerror', (error) => void problems.push(error.message));
  await page.goto(url);
  return { page, problems };
}

/** Waits until a read has a value that satisfies the expectation. */
export async function eventually<T>(read: () => Promise<T>, check: (value: T) => void): Promise<void> {
  await expect
    .poll(
      async () => {
        check(await read());
        return true;
      },
      { timeout: 20_000, interval: 100 },
    )
    .toBe(true);
}
