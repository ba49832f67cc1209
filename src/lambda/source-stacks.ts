// Error stacks that name the sources instead of the bundle. `outrigger build` puts this module first into every bundle,
// so it also works for an error of a module's own code. A source map is read when the stack of an error is read for the
// first time. Node's --enable-source-maps reads the maps of all files when it imports them: 16 to 34 ms of CPU of a
// cold start.
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** By the URL of a file; undefined for a file without a source map. */
const maps = new Map<string, SourceMap | undefined>();

// V8 calls it when the property `stack` of an error is read for the first time (V8, "Stack trace API").
Error.prepareStackTrace = (error, frames) =>
  [errorTitle(error), ...frames.map((frame) => `    at ${sourceFrame(frame)}`)].join('\n');

function errorTitle(error: Error): string {
  try {
    return String(error);
  } catch {
    return 'Error';
  }
}

/** Formats a frame as its place in the source, without the function's name, which is minified. */
function sourceFrame(frame: NodeJS.CallSite): string {
  const url = frame.getFileName() ?? '';
  const map = url.startsWith('file:') ? mapOf(url) : undefined;
  const entry = map?.findEntry((frame.getLineNumber() ?? 1) - 1, (frame.getColumnNumber() ?? 1) - 1);
  if (entry === undefined || !('originalSource' in entry)) return String(frame);
  const source = path.resolve(path.dirname(fileURLToPath(url)), entry.originalSource);
  return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
}

function mapOf(url: string): SourceMap | undefined {
  if (!maps.has(url)) maps.set(url, readMap(url));
  return maps.get(url);
}

/** A map that is absent or cannot be parsed must not replace the error whose stack is read. */
function readMap(url: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(url)}.map`, 'utf8')));
  } catch {
    return undefined;
  }
}
