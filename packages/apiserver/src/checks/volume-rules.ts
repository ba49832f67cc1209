// The rules of the volumes of pods: one source each, and what the common sources require.
import { getList, getMap, getString, type Json } from '../json.ts';
import { type StatusCause, statusCause } from '../status-error.ts';
import { invalid, isEmpty, oneOf, type Rule, type RuleTable, rule, unless, when } from './rule.ts';

const sources = [
  ...['emptyDir', 'hostPath', 'gitRepo', 'gcePersistentDisk', 'awsElasticBlockStore', 'secret', 'nfs', 'iscsi'],
  ...['glusterfs', 'flocker', 'persistentVolumeClaim', 'rbd', 'cinder', 'cephfs', 'quobyte', 'downwardAPI', 'fc'],
  ...['flexVolume', 'configMap', 'azureFile', 'vsphereVolume', 'photonPersistentDisk', 'portworxVolume', 'azureDisk'],
  ...['storageos', 'projected', 'scaleIO', 'csi', 'ephemeral', 'image'],
];

/** One source of a volume of a pod or of a PersistentVolume, in Kubernetes' order. */
export function oneVolume(fields: readonly string[]): Rule {
  return oneOf(fields, 'may not specify more than 1 volume type', 'must specify a volume type');
}

/** Fields that Kubernetes' errors name differently. */
const oneSource: Rule = (value, place) =>
  oneVolume(sources)(value, place).map((cause) => ({
    ...cause,
    field: cause.field.replace(/\.downwardAPI$/, '.downwarAPI').replace(/\.cephfs$/, '.cephFS'),
  }));

/** Returns the names of volumes with one source, which mounts can name. */
export function volumeNames(volumes: readonly Json[]): readonly string[] {
  const hasOne = (volume: Json) => sources.filter((source) => getMap(volume)[source] !== undefined).length === 1;
  return volumes.filter(hasOne).map((volume) => getString(volume, 'name'));
}

/** Sources of a projected volume are one each, and have different paths. That of a token is named at the volume. */
const projections: Rule = (value, place) => {
  const found: StatusCause[] = [];
  const paths: Json[] = [];
  for (const [index, source] of getList(value, 'sources').entries()) {
    const { serviceAccountToken, ...given } = getMap(source);
    const count = Object.keys(getMap(source)).length;
    const detail = 'may not specify more than 1 volume type per source';
    found.push(...unless(count <= 1, statusCause.forbidden(`${place.path}.sources[${index}]`, detail)));
    for (const item of Object.values(given).flatMap((content) => getList(content, 'items'))) {
      const { path = '' } = getMap(item);
      const isNew = path === '' || !paths.includes(path);
      found.push(...unless(isNew, invalid(place.path, path, 'conflicting duplicate paths')));
      paths.push(path);
    }
    if (serviceAccountToken === undefined) continue;
    const { path } = getMap(serviceAccountToken);
    found.push(...rule('required filePath')(path, { ...place, path: `${place.path}.path` }));
  }
  return found;
};

/** A file of the downward API has one of two sources. */
const downwardFile: Rule = (value, { path }) => {
  const { fieldRef, resourceFieldRef } = getMap(value);
  if (fieldRef === undefined && resourceFieldRef === undefined)
    return [statusCause.required(path, 'one of fieldRef and resourceFieldRef is required')];
  const isOne = fieldRef === undefined || resourceFieldRef === undefined;
  return unless(isOne, invalid(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'));
};

const fileMode = '0..511';
const hostTypes = '|BlockDevice|CharDevice|Directory|DirectoryOrCreate|File|FileOrCreate|Socket?';

export const volumeRules: RuleTable = {
  Volume: { self: oneSource, name: 'required label' },
  ConfigMapVolumeSource: { name: 'required', defaultMode: fileMode },
  SecretVolumeSource: { secretName: 'required', defaultMode: fileMode },
  ConfigMapProjection: { name: 'required' },
  SecretProjection: { name: 'required' },
  KeyToPath: { path: 'required filePath', mode: fileMode },
  ProjectedVolumeSource: { self: projections, defaultMode: fileMode },
  ServiceAccountTokenProjection: { path: 'none', expirationSeconds: '600..4294967296' },
  DownwardAPIVolumeSource: { defaultMode: fileMode },
  DownwardAPIVolumeFile: { self: downwardFile, path: 'required filePath', mode: fileMode },
  EmptyDirVolumeSource: {
    sizeLimit: (value, { path }) =>
      unless(!String(value).startsWith('-'), statusCause.forbidden(path, 'must be a valid resource quantity')),
  },
  HostPathVolumeSource: { path: 'required backsteps', type: when(({ path }) => !isEmpty(path), hostTypes) },
  NFSVolumeSource: { path: 'required absolutePath!' },
  CSIVolumeSource: { driver: 'required driver' },
  EphemeralVolumeSource: { volumeClaimTemplate: 'required' },
};
