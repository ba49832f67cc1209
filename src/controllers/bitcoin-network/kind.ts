// BitcoinNetwork, the kind: a network of bitcoind nodes in regtest that are connected to each other. It has two
// controllers, and no field of its status has two writers: bitcoin-network reports the workloads, bitcoin-peers the
// nodes and their connections.
//
// A user writes spec, or scales the network. Ready summarizes the workloads, without PeersConnected.
import * as z from 'zod';
import { defineKind } from '../../outrigger.ts';

/** An upper bound for a full mesh: a node keeps at most eight connections to added nodes. */
const maxNodes = 64;
/**
 * Leaves room for the longest name that contains it: a pod's label `<name>-sts-<hash>` with a hash of ten characters
 * (63).
 */
const maxNameLength = 48;
/** The name of a Secret (a DNS subdomain), or nothing. */
const secretName = /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$/;

const node = z.object({
  ordinal: z.number().int().describe('Which of the StatefulSet’s pods it is.'),
  ready: z.boolean(),
  ip: z.string().describe('Empty until the pod has one.'),
  nodeName: z.string().describe('The name of its pod.'),
  dnsName: z.string().describe('Its name in the cluster’s DNS, within the namespace.'),
});

/** The kind. */
export const BitcoinNetwork = defineKind({
  group: 'bitcoin.example.com',
  version: 'v1',
  kind: 'BitcoinNetwork',
  spec: z.object({
    nodes: z.number().int().min(0).max(maxNodes).describe('How many nodes there are.'),
    secret: z.string().max(253).regex(secretName).optional().meta({
      description: 'A Secret whose keys the nodes get as variables. Only they read it.',
      // The user who writes its name here must have permission to read that Secret.
      refersTo: 'secret',
    }),
  }),
  status: z.object({
    replicas: z.number().int().optional().describe('How many pods there are.'),
    readyNodes: z.number().int().optional().describe('How many of them are ready.'),
    nodes: z.array(node).optional().describe('The nodes, by ordinal. Written by bitcoin-peers.'),
  }),
  conditions: ['ServiceReady', 'NodesReady'],
  columns: {
    Nodes: '.spec.nodes',
    'Ready nodes': '.status.readyNodes',
    Peers: '.status.conditions[?(@.type=="PeersConnected")].status',
  },
  scale: { spec: '.spec.nodes', status: '.status.replicas' },
  nameRule: {
    rule: `size(self.metadata.name) <= ${maxNameLength} && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')`,
    message:
      `a name begins with a letter and has at most ${maxNameLength} letters, digits and -, ` +
      'because its Service and pods are named after it',
  },
});

/** A network's spec. */
export type NetworkSpec = ReturnType<typeof BitcoinNetwork.read>['spec'];
/** A node in the status. */
export type NetworkNode = z.output<typeof node>;
