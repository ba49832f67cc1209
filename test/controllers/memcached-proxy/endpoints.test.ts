// From Services and EndpointSlices, as values, to servers. Who made the slices is no matter; the real ones are in
// test/cluster/memcached-proxy.test.ts.
import { describe, expect, it } from 'vitest';
import { findPort, nonIpEndpoints, serversOf } from '../../../src/controllers/memcached-proxy/endpoints.ts';

type Endpoint = NonNullable<Parameters<typeof serversOf>[2][number]['endpoints']>[number];
const ready = (...addresses: readonly string[]): Endpoint[] =>
  addresses.map((address) => ({ addresses: [address], conditions: { ready: true } }));
const slice = (endpoints: Endpoint[], ports: object[] = [{ port: 11_211 }], addressType = 'IPv4') => ({
  addressType,
  endpoints,
  ports,
});
const service = (ports: { name?: string; port: number; protocol?: string; targetPort?: number | string }[]) => ({
  spec: { ports },
});
const plain = service([{ port: 11_211 }]);
const unnamed = { name: '' };

describe('servers', () => {
  it('M3: are sorted by number and without duplicates, whatever the order and number of slices', () => {
    const expected = ['9.0.0.1:11211', '10.0.0.2:11211', '10.0.0.9:11211', '10.0.0.10:11211'];
    const one = slice(ready('10.0.0.10', '9.0.0.1', '10.0.0.9', '10.0.0.2'));
    const several = [
      slice(ready('10.0.0.9', '10.0.0.2')),
      slice(ready('10.0.0.10', '10.0.0.9')),
      slice(ready('9.0.0.1')),
    ];
    expect(serversOf(plain, unnamed, [one])).toEqual(expected);
    expect(serversOf(plain, unnamed, several)).toEqual(expected);
    expect(serversOf(plain, unnamed, several.toReversed())).toEqual(expected);
  });

  it.each([
    ['ready', { ready: true }, true],
    ['without conditions', undefined, true],
    ['whose readiness is not known', { serving: true }, true],
    ['not ready', { ready: false }, false],
    ['serving but terminating', { ready: false, serving: true, terminating: true }, false],
    ['published although not ready, and terminating', { ready: true, serving: true, terminating: true }, false],
  ])('M4: an endpoint that is %s (%j) is a server: %s', (_, conditions, counts) => {
    const endpoint = { addresses: ['10.0.0.1'], ...(conditions === undefined ? {} : { conditions }) };
    expect(serversOf(plain, unnamed, [slice([endpoint])])).toEqual(counts ? ['10.0.0.1:11211'] : []);
  });

  it('M12d: pods whose port of that name differs each have their own', () => {
    const slices = [
      slice(ready('10.0.0.1'), [{ name: 'cache', port: 11_211 }]),
      slice(ready('10.0.0.2'), [{ name: 'cache', port: 11_212 }]),
    ];
    expect(serversOf(plain, { name: 'cache' }, slices)).toEqual(['10.0.0.1:11211', '10.0.0.2:11212']);
  });

  it('M12e: an IPv6 address stands in brackets, and they are sorted by number too', () => {
    const slices = [slice(ready('fd00::10', 'fd00::9', '::1', 'fd00:0:0:0:0:0:0:1'), [{ port: 11_211 }], 'IPv6')];
    const six = { spec: { ...plain.spec, ipFamilies: ['IPv6'] } };
    expect(serversOf(six, unnamed, slices)).toEqual([
      '[::1]:11211',
      '[fd00:0:0:0:0:0:0:1]:11211',
      '[fd00::9]:11211',
      '[fd00::10]:11211',
    ]);
  });

  it('M12e: a pod with an address in both families is one server', () => {
    const both = { spec: { ...plain.spec, ipFamilies: ['IPv4', 'IPv6'] } };
    const slices = [slice(ready('10.0.0.1')), slice(ready('fd00::1'), [{ port: 11_211 }], 'IPv6')];
    expect(serversOf(both, unnamed, slices)).toEqual(['10.0.0.1:11211']);
  });

  it('M12f: a UDP port of the same number is not a server', () => {
    const ports = [
      { name: 'udp', port: 11_211, protocol: 'UDP' },
      { name: 'tcp', port: 11_211, protocol: 'TCP' },
    ];
    const two = service(ports);
    expect(findPort(two, 11_211)).toEqual({ name: 'tcp' });
    expect(serversOf(two, { name: 'tcp' }, [slice(ready('10.0.0.1'), ports)])).toEqual(['10.0.0.1:11211']);
    expect(findPort(service([{ port: 11_211, protocol: 'UDP' }]), 11_211)).toBeUndefined();
    // Slices that were written by hand may have the same name.
    const alike = slice(ready('10.0.0.1'), [{ name: '', port: 11_212, protocol: 'UDP' }]);
    expect(serversOf(plain, unnamed, [alike])).toEqual([]);
  });

  it('M15: a Service without slices, or with a name in place of addresses, has none', () => {
    expect(serversOf({ spec: { ports: [{ port: 1 }] } }, unnamed, [])).toEqual([]);
    expect(serversOf(plain, unnamed, [slice(ready('db.example.com'), [{ port: 11_211 }], 'FQDN')])).toEqual([]);
    expect(serversOf(plain, unnamed, [{ addressType: 'IPv4', endpoints: [] }])).toEqual([]);
  });

  it.each([
    ['a name', 'db.example.com', 'FQDN'],
    ['an address that is called a name', '10.0.0.9', 'FQDN'],
    ['a word', 'localhost', 'IPv4'],
    ['an address with a leading zero, which some read as octal', '10.0.0.010', 'IPv4'],
    ['a port with it', '10.0.0.9:80', 'IPv4'],
    ['a quotation mark', '10.0.0.9"', 'IPv4'],
    ['an address of the other family', 'fd00::1', 'IPv4'],
    ['an IPv4 address among IPv6 ones', '10.0.0.9', 'IPv6'],
    ['nothing at all', '', 'IPv4'],
  ])('M3: %s is no server, and is named', (_, address, type) => {
    const slices = [slice(ready(address), [{ port: 11_211 }], type), slice(ready('10.0.0.1'))];
    expect(serversOf(plain, unnamed, slices)).toEqual(['10.0.0.1:11211']);
    expect(nonIpEndpoints(slices)).toEqual([address]);
  });

  it('M3: who is not ready need not have an address', () => {
    const waiting = [{ addresses: ['db.example.com'], conditions: { ready: false } }];
    expect(nonIpEndpoints([slice(waiting, [{ port: 11_211 }], 'FQDN')])).toEqual([]);
  });
});

describe("a Service's port", () => {
  const two = [
    { name: 'a', port: 1000, targetPort: 11_211 },
    { name: 'b', port: 8080, targetPort: 8081 },
  ];
  const alike = [
    { name: 'a', port: 11_211 },
    { name: 'b', port: 11_211 },
  ];
  const targets = [
    { name: 'a', port: 11_211 },
    { name: 'b', port: 8081 },
  ];

  it.each([
    { row: 'M12: its number leads to the target port alone', ports: two, port: 1000, targets, server: 11_211 },
    { row: 'M12a: its name leads to the target port', ports: two, port: 'b', targets, server: 8081 },
    {
      row: 'M12b: its number leads to the resolved number although its target port has a name of its own',
      ports: [{ name: 'front', port: 1000, targetPort: 'memcached' }],
      port: 1000,
      targets: [{ name: 'front', port: 11_213 }],
      server: 11_213,
    },
    {
      row: 'M12c: of two with one target port no server is twice',
      ports: alike,
      port: 'a',
      targets: alike,
      server: 11_211,
    },
  ])('$row', ({ ports, port, targets: resolved, server }) => {
    const found = findPort(service(ports), port) ?? { name: 'none' };
    expect(serversOf(service(ports), found, [slice(ready('10.0.0.1'), resolved)])).toEqual([`10.0.0.1:${server}`]);
  });

  it.each([11_211, 'c'])('M13a: %s, which the Service does not have, is not found', (port) => {
    expect(findPort(service(two), port)).toBeUndefined();
    expect(findPort({}, port)).toBeUndefined();
  });
});
