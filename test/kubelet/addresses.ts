// Addresses for pods of tests. A pod that runs a program listens on loopback, all of which answers on Linux; any other gets an address
// that nobody has, because a real kube-apiserver takes no EndpointSlice with a loopback address.
import { randomInt } from 'node:crypto';

/** Gives out addresses; none twice. */
export interface PodAddresses {
  /** 127.A.B.C: a process of this machine can listen there. */
  loopback(): string;
  /** 10.A.B.C: only a name. */
  unreachable(): string;
}

const LAST_OF_BLOCK = 254;
// Below are the addresses of the stand-in for workloads, and those that people use by hand.
const FIRST_SECOND = 16;
const END = 255;

/** Creates a source of addresses. Its blocks are drawn, so that test files that run side by side do not meet at one. */
export function podAddresses(draw: (from: number, to: number) => number = randomInt): PodAddresses {
  const counter = (first: number): (() => string) => {
    const second = draw(FIRST_SECOND, END);
    let third = draw(0, END);
    let last = 0;
    return () => {
      last += 1;
      if (last > LAST_OF_BLOCK) [third, last] = [(third + 1) % END, 1];
      return `${first}.${second}.${third}.${last}`;
    };
  };
  return { loopback: counter(127), unreachable: counter(10) };
}
