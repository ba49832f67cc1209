// Tracks up to which version SQS has accepted the changes of one collection. This version is the low watermark: SQS has
// accepted every key of a change up to it. Keys that are still queued or in flight hold it back, the oldest of them the
// most. The watch checkpoint stores the low watermark, so a restarted watcher resumes there and misses nothing.

/** One key that is queued or in flight. `before` is the version that was current when the key was added. */
export type PendingAck = { readonly before: string | undefined };

/** The acknowledgement tracker of one collection. */
export type AckTracker = {
  /** Registers a key that was added for a change after the current version. */
  open(): PendingAck;
  /** Reports that SQS accepted the key. */
  close(pending: PendingAck): void;
  /** Reports that every change up to this version has been read, and that its keys have been registered. */
  advance(version: string): void;
  /** The version up to which SQS accepted everything; undefined while it is unknown. */
  lowWatermark(): string | undefined;
  /**
   * Forgets everything, because the cluster was restored. Keys that are still pending no longer hold the version back.
   */
  reset(): void;
};

/** The part of a tracker that a pending key needs. */
export type PendingAcks = Pick<AckTracker, 'open' | 'close'>;

/** A low watermark that is held until `release` is called and every key that was opened on it has been closed. */
export type HeldWatermark = PendingAcks & {
  release(): void;
  /** Holds the current version of another tracker for as long. */
  join(acks: PendingAcks): void;
};

/** Holds the low watermark at its current version for keys that are found later. */
export function holdLowWatermark(acks: PendingAcks): HeldWatermark {
  const pending = acks.open();
  const held = [() => acks.close(pending)];
  let open = 1;
  const close = () => {
    open -= 1;
    if (open === 0) for (const one of held) one();
  };
  return {
    open: () => {
      open += 1;
      return pending;
    },
    close,
    release: close,
    join: (other) => {
      if (open === 0) return;
      const joined = other.open();
      held.push(() => other.close(joined));
    },
  };
}

/** Creates a tracker. `onAdvance` is called whenever the low watermark changes. */
export function createAckTracker(onAdvance: (version: string) => void = () => undefined): AckTracker {
  let current: string | undefined;
  let reported: string | undefined;
  // A set keeps the order of insertion, so the first one is the oldest.
  let pendingAcks = new Set<PendingAck>();

  const lowWatermark = (): string | undefined => {
    for (const { before } of pendingAcks) return before;
    return current;
  };
  const report = () => {
    const version = lowWatermark();
    if (version === undefined || version === reported) return;
    reported = version;
    onAdvance(version);
  };
  return {
    open: () => {
      const pending: PendingAck = { before: current };
      pendingAcks.add(pending);
      return pending;
    },
    close: (pending) => {
      if (pendingAcks.delete(pending)) report();
    },
    advance: (version) => {
      current = version;
      report();
    },
    lowWatermark,
    reset: () => {
      current = undefined;
      reported = undefined;
      pendingAcks = new Set();
    },
  };
}
