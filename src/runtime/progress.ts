// How far a collection's changes have reached SQS. A version counts as accepted when everything up to it has been: the keys
// that are still on their way hold it back, the oldest of them the most.

/** Stands for one key that is on its way. */
export type Ticket = { readonly before: string | undefined };

/** The progress of one collection. */
export type Progress = {
  /** A key is on its way, for a change after the version last heard. */
  open(): Ticket;
  /** It was accepted. */
  close(ticket: Ticket): void;
  /** Everything up to this version has been seen, and all of its keys are on their way. */
  heard(version: string): void;
  /** The version up to which everything was accepted; undefined while nobody can tell. */
  accepted(): string | undefined;
  /** Versions begin anew: the cluster was restored. What is on its way holds nothing back any more. */
  reset(): void;
};

/** As much of a progress as a key on its way needs. */
export type Hold = Pick<Progress, 'open' | 'close'>;

/**
 * Holds a progress back where it is now, for keys that will only be found later: until it is released, and every key that was opened
 * on it is accepted.
 */
export function holdBack(progress: Hold): Hold & { release(): void } {
  const ticket = progress.open();
  let open = 1;
  const close = () => {
    open -= 1;
    if (open === 0) progress.close(ticket);
  };
  return {
    open: () => {
      open += 1;
      return ticket;
    },
    close,
    release: close,
  };
}

/** Creates a progress. `onAccepted` is called whenever the accepted version changes. */
export function createProgress(onAccepted: (version: string) => void = () => undefined): Progress {
  let last: string | undefined;
  let told: string | undefined;
  // In the order of opening, so that the first is the oldest.
  let tickets = new Set<Ticket>();

  const accepted = (): string | undefined => {
    for (const { before } of tickets) return before;
    return last;
  };
  const tell = () => {
    const version = accepted();
    if (version === undefined || version === told) return;
    told = version;
    onAccepted(version);
  };
  return {
    open: () => {
      const ticket: Ticket = { before: last };
      tickets.add(ticket);
      return ticket;
    },
    close: (ticket) => {
      if (tickets.delete(ticket)) tell();
    },
    heard: (version) => {
      last = version;
      tell();
    },
    accepted,
    reset: () => {
      last = undefined;
      told = undefined;
      tickets = new Set();
    },
  };
}
