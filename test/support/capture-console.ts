// What the functions write to their standard output. They write to a console of their own, so all are captured.
import { Console } from 'node:console';
import { vi } from 'vitest';

/** Collects the lines that are written to any console, until `restore`. They are not shown. */
export function captureConsole(): { readonly lines: readonly string[]; restore(): void } {
  const lines: string[] = [];
  const record = (line: unknown) => void lines.push(String(line));
  const spies = (['log', 'info', 'warn', 'error', 'debug'] as const).flatMap((method) =>
    [Console.prototype, globalThis.console].map((one) => vi.spyOn(one, method).mockImplementation(record)),
  );
  return {
    lines,
    restore: () => {
      for (const spy of spies) spy.mockRestore();
    },
  };
}
