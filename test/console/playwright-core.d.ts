// What the tests of the console use of playwright-core. Its own declarations are in test/console/node_modules, which
// `npm ci` does not install, and the types are checked without it.
declare module 'playwright-core' {
  type Role =
    | 'alert'
    | 'button'
    | 'cell'
    | 'combobox'
    | 'dialog'
    | 'heading'
    | 'link'
    | 'option'
    | 'region'
    | 'row'
    | 'searchbox'
    | 'status'
    | 'tab'
    | 'tabpanel';
  type Name = { readonly name?: string | RegExp; readonly exact?: boolean; readonly pressed?: boolean };
  type Wait = { readonly state?: 'visible' | 'detached' | 'attached' | 'hidden'; readonly timeout?: number };
  interface Found {
    getByRole(role: Role, options?: Name): Locator;
    getByText(text: string | RegExp, options?: { readonly exact?: boolean }): Locator;
    getByLabel(text: string | RegExp): Locator;
    locator(selector: string): Locator;
  }
  export interface Locator extends Found {
    click(options?: { readonly modifiers?: readonly string[]; readonly timeout?: number }): Promise<void>;
    fill(text: string): Promise<void>;
    press(key: string): Promise<void>;
    focus(): Promise<void>;
    selectOption(value: string): Promise<unknown>;
    waitFor(options?: Wait): Promise<void>;
    count(): Promise<number>;
    isDisabled(): Promise<boolean>;
    innerText(): Promise<string>;
    allInnerTexts(): Promise<string[]>;
    getAttribute(name: string): Promise<string | null>;
    first(): Locator;
    nth(index: number): Locator;
    filter(options: { readonly hasText?: string | RegExp; readonly has?: Locator }): Locator;
  }
  export interface Page extends Found {
    goto(url: string): Promise<unknown>;
    reload(): Promise<unknown>;
    url(): string;
    on(event: 'console', listener: (message: { type(): string; text(): string }) => void): void;
    on(event: 'pageerror', listener: (error: Error) => void): void;
    evaluate<T>(run: string | (() => T | Promise<T>)): Promise<T>;
    screenshot(options?: {
      readonly path?: string;
      readonly clip?: { readonly x: number; readonly y: number; readonly width: number; readonly height: number };
    }): Promise<Buffer>;
    close(): Promise<void>;
    context(): {
      newCDPSession(page: Page): Promise<DevTools>;
      waitForEvent(event: 'page'): Promise<Page>;
    };
  }
  /** A session of the Chrome DevTools Protocol. */
  export interface DevTools {
    send(method: string): Promise<unknown>;
    detach(): Promise<void>;
  }
  export interface Browser {
    newPage(options?: {
      readonly colorScheme?: 'light' | 'dark';
      readonly reducedMotion?: 'reduce' | 'no-preference';
      readonly viewport?: { readonly width: number; readonly height: number };
    }): Promise<Page>;
    close(): Promise<void>;
  }
  export const chromium: {
    launch(options: { readonly executablePath: string; readonly args: readonly string[] }): Promise<Browser>;
  };
}
