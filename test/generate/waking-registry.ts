// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders are CloudFormation's.
// Two controllers: one with wakes and permissions on AWS, and one without.
import * as z from 'zod';
import { defineKind } from '../../src/api/custom-kind.ts';
import type { ControllerDefinition } from '../../src/api/definition.ts';
import { wake } from '../../src/api/wake.ts';

const kindOf = <const Name extends string>(kind: Name) =>
  defineKind({
    group: 'plant.example.com',
    version: 'v1',
    kind,
    spec: z.object({}),
    status: z.object({}),
    conditions: [],
  });
const reconcile = async () => ({ status: {}, conditions: {} });
const none = () => [];

export const wakingRegistry: readonly ControllerDefinition[] = [
  kindOf('Gauge').controller('gauge', {
    wakes: [
      wake({ source: 'plant', detailType: 'LevelChanged', detail: { sensor: { kind: ['level'] } } }, none),
      wake({ source: 'plant', detailType: 'Leak' }, none),
    ],
    settings: z.object({ GAUGES: z.string() }),
    permissions: [
      {
        actions: ['s3:GetObject', 's3:PutObject'],
        resources: ['arn:${AWS::Partition}:s3:::${GAUGES}/${AWS::Region}/*'],
        conditions: { StringEquals: { 'aws:ResourceAccount': '111122223333' } },
      },
      // Long enough for a managed policy.
      {
        actions: ['route53:ChangeResourceRecordSets'],
        resources: Array.from({ length: 150 }, (_, index) => `arn:aws:route53:::hostedzone/Z0123456789ABCDEF${index}`),
      },
    ],
    reconcile,
  }),
  kindOf('Quiet').controller('quiet', { reconcile }),
];
