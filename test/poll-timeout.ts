// How long `expect.poll` waits in every tier. Vitest's own default, a second, is a pause of a loaded machine. A test that
// fails waits this long; one that passes does not.
export const pollTimeout = { poll: { timeout: 30_000 } } as const;
