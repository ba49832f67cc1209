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
