// The result of `docker build` for a Dockerfile that copies files and runs Node, as a folder on this machine. It
// supports only the instructions of our Dockerfile; any other is an error.
import { cp, glob, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';

/** An image. */
export type Image = {
  /** The folder of its file system. */
  readonly root: string;
  readonly workingFolder: string;
  readonly environment: Readonly<Record<string, string>>;
  /** The first element is `node`. */
  readonly entryPoint: readonly string[];
  /** Exactly as in the Dockerfile. */
  readonly user: string;
};

/** Builds an image in an existing empty folder. Paths are copied from `context`. */
export async function buildImage(dockerfile: string, context: string, root: string): Promise<Image> {
  let image: Image = { root, workingFolder: '/', environment: {}, entryPoint: [], user: 'root' };
  for (const line of (await readFile(dockerfile, 'utf8')).split('\n')) {
    const [, instruction = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    const words = rest.split(' ');
    switch (instruction) {
      case '':
      case 'ARG':
      case 'FROM':
      case 'EXPOSE':
        if (instruction === '' && line !== '' && !line.startsWith('#')) throw new Error(`${dockerfile}: ${line}`);
        break;
      case 'WORKDIR':
        image = { ...image, workingFolder: rest };
        await mkdir(join(root, rest), { recursive: true });
        break;
      case 'COPY':
        for await (const name of glob(words.slice(0, -1), { cwd: context }))
          await cp(join(context, name), join(root, image.workingFolder, words.at(-1) ?? '', name));
        break;
      case 'ENV':
        image = { ...image, environment: { ...image.environment, ...variablesOf(words, line) } };
        break;
      case 'USER':
        image = { ...image, user: rest };
        break;
      case 'ENTRYPOINT':
        image = { ...image, entryPoint: z.array(z.string()).parse(JSON.parse(rest)) };
        break;
      default:
        throw new Error(`${dockerfile}: ${instruction} is not supported`);
    }
  }
  return image;
}

/** Parses `NAME=value` of each word. Quotes are not supported. */
function variablesOf(words: readonly string[], line: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    words.map((word) => {
      const [, name = '', value = ''] = /^(\w+)=([\w./:-]*)$/.exec(word) ?? [];
      if (name === '') throw new Error(`${line}: ${word} is not supported`);
      return [name, value];
    }),
  );
}
