// Addresses for pods of tests. A pod with a program listens on a loopback address, all of which work on Linux; any
// other pod gets an unused address, because kube-apiserver rejects EndpointSlices with loopback addresses.
import { randomInt } from 'node:crypto';

/** Returns addresses, each once. */
export type PodAddresses = {
  /** 127.A.B.C: a process on this machine can listen there. */
  loopback(): string;
  /** 10.A.B.C: an address without a listener. */
  unreachable(): string;
};

const lastOfBlock = 254;
// Below are the addresses of the workload simulator, and those in common manual use.
const firstSecond = 16;
const lastOctet = 255;

/** Creates a source of addresses. Its blocks are random, so that concurrent test files do not collide. */
export function podAddresses(randomBetween: (from: number, to: number) => number = randomInt): PodAddresses {
  const counter = (first: number): (() => string) => {
    const second = randomBetween(firstSecond, lastOctet);
    let third = randomBetween(0, lastOctet);
    let last = 0;
    return () => {
      last += 1;
      if (last > lastOfBlock) [third, last] = [(third + 1) % lastOctet, 1];
      return `${first}.${second}.${third}.${last}`;
    };
  };
  return { loopback: counter(127), unreachable: counter(10) };
}
