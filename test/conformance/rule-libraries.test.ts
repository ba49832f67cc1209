// Conformance: the libraries of addresses, URLs, formats and versions in the rules of a CRD (K15).
import { beforeAll, expect, it } from 'vitest';
import { hasCondition } from './body.ts';
import { useSuite } from './suite.ts';

const { wire } = await useSuite();
const group = 'rule-libraries.example.com';

/** A rule on a text, the text, and whether the rule holds. */
const rows: readonly (readonly [string, string, boolean])[] = [
  ['isIP(self)', '10.0.0.1', true],
  ['isIP(self)', '10.0.0.01', false],
  ['isIP(self)', '::ffff:1.2.3.4', false],
  ['isIP(self)', 'fe80::1%a', false],
  ['isIP(self)', 'x', false],
  ['ip(self).family() == 4', '1.2.3.4', true],
  ['ip(self).family() == 6', '::1', true],
  ['ip(self).isLoopback()', '127.0.0.2', true],
  ['ip(self).isUnspecified()', '::', true],
  ['ip(self).isGlobalUnicast()', '10.0.0.1', true],
  ['ip(self).isGlobalUnicast()', '224.0.0.1', false],
  ['ip(self).isLinkLocalUnicast()', 'fe80::2', true],
  ['ip(self).isLinkLocalMulticast()', 'ff02::1', true],
  ['ip.isCanonical(self)', '2001:DB8::1', false],
  ['ip.isCanonical(self)', '2001:db8::1', true],
  ["string(ip(self)) == '2001:db8::1'", '2001:DB8:0::1', true],
  ["ip(self) == ip('10.0.0.1')", '10.0.0.1', true],
  ["ip(self) == ip('10.0.0.1')", '10.0.0.2', false],
  ['ip(self).family() == 4', 'x', false],
  ['isCIDR(self)', '10.0.0.0/8', true],
  ['isCIDR(self)', '10.0.0.0/33', false],
  ['isCIDR(self)', '10.0.0.0/08', false],
  ['isCIDR(self)', 'fd00::/8', true],
  ["cidr(self).containsIP('10.1.2.3')", '10.0.0.0/8', true],
  ["cidr(self).containsIP(ip('11.1.2.3'))", '10.0.0.0/8', false],
  ["cidr(self).containsCIDR('10.1.0.0/16')", '10.0.0.0/8', true],
  ["cidr(self).containsCIDR(cidr('10.0.0.0/7'))", '10.0.0.0/8', false],
  ['cidr(self).prefixLength() == 8', '10.0.0.0/8', true],
  ["cidr(self).ip() == ip('10.1.0.0')", '10.1.0.0/8', true],
  ["string(cidr(self).masked()) == '10.0.0.0/8'", '10.1.2.3/8', true],
  ["string(cidr(self).masked()) == 'fd00::/8'", 'fd12:3::1/8', true],
  ['cidr(self) == cidr(self).masked()', '10.1.0.0/8', false],
  ['isURL(self)', 'https://a.example/x', true],
  ['isURL(self)', '/x', true],
  ['isURL(self)', 'x', false],
  ['isURL(self)', 'mailto:a@b', true],
  ['isURL(self)', 'http://a b/', false],
  ['isURL(self)', 'http://a/%zz', false],
  ['isURL(self)', 'http://[::1]:80/', true],
  ['isURL(self)', 'http://a:x/', false],
  ['isURL(self)', '', false],
  ['isURL(self)', 'http://a/b c', true],
  ['isURL(self)', '://x', false],
  ['isURL(self)', 'http://a/é?b=%zz', true],
  ["url(self).getScheme() == 'https'", 'HTTPS://a/', true],
  ["url(self).getHost() == 'A.example:80'", 'http://A.example:80/x', true],
  ["url(self).getHostname() == '::1'", 'http://[::1]:80/', true],
  ["url(self).getPort() == '80'", 'http://[::1]:80/', true],
  ["url(self).getPort() == ''", 'http://a/', true],
  ["url(self).getEscapedPath() == '/b%20c'", 'http://a/b c#f', true],
  ["url(self).getEscapedPath() == '/a/../b'", 'http://x/a/../b', true],
  ["url(self).getHostname() == 'a'", 'http://u:p@a/', true],
  ["url(self).getQuery()['k'] == ['v', 'w x']", 'http://a/?k=v&k=w+x#f', true],
  ['url(self).getQuery().size() == 1', '/p?x=1&y=2;z', true],
  ["url(self).getHost() == ''", 'mailto:a', true],
  ["url(self) == url('http://a/')", 'http://a/', true],
  ['format.dns1123Label().validate(self).hasValue()', 'a-b', false],
  ['format.dns1123Label().validate(self).hasValue()', 'a.b', true],
  ['!format.dns1123Subdomain().validate(self).hasValue()', 'a.b', true],
  ["!format.named('dns1035Label').value().validate(self).hasValue()", '1a', false],
  ["format.named('nothing').hasValue()", 'x', false],
  ['!format.dns1123LabelPrefix().validate(self).hasValue()', 'a-', true],
  ['!format.dns1123SubdomainPrefix().validate(self).hasValue()', 'a.b-', true],
  ['!format.dns1035LabelPrefix().validate(self).hasValue()', '12-', false],
  ['!format.qualifiedName().validate(self).hasValue()', 'a.b/c', true],
  ['!format.labelValue().validate(self).hasValue()', '-a', false],
  ['!format.uri().validate(self).hasValue()', 'http://a/', true],
  ['!format.uuid().validate(self).hasValue()', '0', false],
  ['!format.byte().validate(self).hasValue()', 'YQ==', true],
  ['!format.date().validate(self).hasValue()', '2026-02-30', false],
  ['!format.datetime().validate(self).hasValue()', '2026-02-03T04:05:06Z', true],
  ['format.uuid().validate(self).value().size() == 1', 'x', true],
  ['isSemver(self)', '1.2.3-a.1+b', true],
  ['isSemver(self)', 'v1.2.3', false],
  ['isSemver(self)', '01.2.3', false],
  ['isSemver(self)', '1.2', false],
  ['isSemver(self, true)', 'v01.2', true],
  ['isSemver(self, true)', '1-a', false],
  ['isSemver(self, false)', '1', false],
  ['semver(self).major() == 1', '1.2.3', true],
  ['semver(self, true).minor() == 0', 'v4', true],
  ['semver(self).patch() == 3', '1.2.3-a', true],
  ['semver(self).major() == 1', 'x', false],
  ["semver(self).isLessThan(semver('1.2.3'))", '1.2.3-a.1', true],
  ["semver(self).isLessThan(semver('1.2.3-a.10'))", '1.2.3-a.9', true],
  ["semver(self).isLessThan(semver('1.2.3-a.b'))", '1.2.3-a.1', true],
  ["semver(self).isGreaterThan(semver('1.2.3-a'))", '1.2.3-a.1', true],
  ["semver(self).isGreaterThan(semver('1.10.0'))", '1.9.0', false],
  ["semver(self).compareTo(semver('1.2.3')) == 0", '1.2.3+b', true],
  ["semver(self) == semver('1.2.3')", '1.2.3+b', true],
];

beforeAll(async () => {
  const fields = rows.map(([rule], index) => [
    `f${index}`,
    { type: 'string', maxLength: 60, 'x-kubernetes-validations': [{ rule }] },
  ]);
  const spec = { type: 'object', properties: Object.fromEntries(fields) };
  const openAPIV3Schema = { type: 'object', properties: { spec } };
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const name = `texts.${group}`;
  const made = await wire.post(definitions, {
    metadata: { name },
    spec: {
      group,
      scope: 'Cluster',
      names: { plural: 'texts', singular: 'text', kind: 'Text', listKind: 'TextList' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  });
  expect(made.text).toContain('"apiVersion":"apiextensions.k8s.io/v1"');
  await using watch = await wire.watch(definitions, { fieldSelector: `metadata.name=${name}` });
  await watch.until(({ object }) => hasCondition(object, 'Established'));
});

it.each(
  rows.map((row, index) => [...row, index] as const),
)('K15: %s of %s is %s', async (_rule, text, holds, index) => {
  const object = { apiVersion: `${group}/v1`, kind: 'Text', metadata: { name: 'one' }, spec: { [`f${index}`]: text } };
  const { status } = await wire.post(`/apis/${group}/v1/texts`, object, { dryRun: 'All' });
  expect(status).toBe(holds ? 201 : 422);
});
