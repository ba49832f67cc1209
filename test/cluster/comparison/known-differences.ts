// Where the in-memory server answers differently from kube-apiserver on purpose. What it accepts and a cluster refuses is
// said in docs/write/testing.md in the same words, which packages/apiserver/test/laxer.test.ts checks.

/** Causes, or a status, that one server alone returns. */
type KnownDifference = {
  /** What the in-memory server accepts. Undefined if it refuses the object too, with other causes. */
  readonly laxer?: string;
  /** Of these kinds; of all kinds that have the field if it is not given. */
  readonly kinds?: readonly string[];
  /** The path and the reason of a cause, or a status. */
  readonly answer: RegExp;
};

const legacyVolumes =
  'azureDisk|azureFile|cephfs|cephFS|cinder|fc|flexVolume|flocker|glusterfs|iscsi|photonPersistentDisk|portworxVolume|quobyte|rbd|' +
  'scaleIO|storageos|vsphereVolume|awsElasticBlockStore|gcePersistentDisk|persistentDisk|gitRepo|local';

export const knownDifferences: readonly KnownDifference[] = [
  {
    laxer: 'priority and runtime classes that do not exist',
    kinds: ['Pod'],
    answer: /^403 /,
  },
  {
    laxer: 'fields of volumes whose drivers Kubernetes no longer has, such as `rbd` and `azureDisk`',
    answer: new RegExp(
      `\\.(${legacyVolumes})\\.|spec\\.csi FieldValueRequired|nodeAffinity FieldValueRequired|csi\\.driver|^spec\\.(cephfs|cephFS|flexVolume|flocker) `,
    ),
  },
  {
    laxer: 'fields of ephemeral containers, of Windows pods, and of dynamic resource claims',
    answer:
      /ephemeralContainers|windowsOptions|resourceClaims|\.claims|podCertificate|clusterTrustBundle|fileKeyRef|appArmorProfile/i,
  },
  {
    laxer: 'the ranges of addresses of a Node',
    kinds: ['Node'],
    // An update names the taints wrongly.
    answer: /podCIDRs|^(spec|metadata)\.taints|configSource/,
  },
  {
    laxer: 'endpoints with addresses of the loopback network',
    answer: /loopback/,
  },
  {
    laxer: 'the resources of a pod as a whole',
    kinds: ['Pod', 'Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob'],
    answer: /^spec\.(template\.spec\.|jobTemplate\.spec\.template\.spec\.)?resources\W/,
  },
  // Plug-ins and allocators of kube-apiserver answer before the validation, and with an error of the server.
  { kinds: ['Pod', 'Service'], answer: /^500 / },
  // kube-apiserver counts the claims of a StatefulSet before the volumes of its template.
  { kinds: ['StatefulSet'], answer: /^spec\.template\.spec\.volumes\[/ },
  // Of two sources of a metric kube-apiserver looks into the first, and this server into the one that is right.
  { kinds: ['HorizontalPodAutoscaler'], answer: /^spec\.metrics\[\d+\]\.\w+\./ },
];
