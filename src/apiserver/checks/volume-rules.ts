// The rules of the volumes of pods: one source each, and what the common sources require.
import { getList, getMap, getString, type Json } from '../json.ts';
import { labelError, subdomainError } from '../registry/names.ts';
import { type StatusCause, statusCause } from '../status-error.ts';
import { fileMode } from './container-rules.ts';
import {
  all,
  among,
  anything,
  between,
  isEmpty,
  oneOf,
  type Rule,
  required,
  requiredText,
  shown,
  type TypeRules,
  text,
} from './rule.ts';
import { backstepError, projectedPathError, relativePathError } from './texts.ts';

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
const misnamed: Readonly<Record<string, string>> = { downwardAPI: 'downwarAPI', cephfs: 'cephFS' };

const oneSource: Rule = (value, place) =>
  oneVolume(sources)(value, place).map((cause) => {
    const field = cause.field.slice(place.path.length + 1);
    const named = misnamed[field];
    return named === undefined ? cause : { ...cause, field: `${place.path}.${named}` };
  });

/** Items of a projected volume have one source each, and different paths. */
const projections: Rule = (value, { path }) => {
  const found: StatusCause[] = [];
  const paths: Json[] = [];
  for (const [index, source] of getList(value, 'sources').entries()) {
    const given = Object.entries(getMap(source));
    if (given.length > 1)
      found.push(
        statusCause.forbidden(`${path}.sources[${index}]`, 'may not specify more than 1 volume type per source'),
      );
    for (const [type, content] of given) {
      if (type === 'serviceAccountToken') continue;
      for (const item of getList(content, 'items')) {
        const { path: at = '' } = getMap(item);
        if (at !== '' && paths.includes(at))
          found.push(statusCause.invalid(path, shown(at), 'conflicting duplicate paths'));
        paths.push(at);
      }
    }
    const token = getMap(source, 'serviceAccountToken');
    // Kubernetes names the path at the volume.
    if (getMap(source).serviceAccountToken !== undefined)
      found.push(
        ...requiredText(projectedPathError)(token.path, {
          path: `${path}.path`,
          parent: token,
          root: noObject,
          old: undefined,
        }),
      );
  }
  return found;
};

const noObject = { apiVersion: '', kind: '', metadata: {} };

/** Files of the downward API are named by Kubernetes' errors at their list, and by their source. */
const downwardFile: Rule = (value, { path }) => {
  const { fieldRef, resourceFieldRef, path: file = '' } = getMap(value);
  const causes: StatusCause[] = [];
  if (file === '') causes.push(statusCause.required(`${path}.path`));
  const error = projectedPathError(String(file));
  if (error !== undefined) causes.push(statusCause.invalid(`${path}.path`, shown(file), error));
  if (fieldRef !== undefined && resourceFieldRef !== undefined)
    causes.push(
      statusCause.invalid(path, '"resource"', 'fieldRef and resourceFieldRef can not be specified simultaneously'),
    );
  if (fieldRef === undefined && resourceFieldRef === undefined)
    causes.push(statusCause.required(path, 'one of fieldRef and resourceFieldRef is required'));
  return causes;
};

const named: TypeRules = { name: required, defaultMode: fileMode };

export const volumeRules: Readonly<Record<string, TypeRules>> = {
  Volume: { self: oneSource, name: requiredText(labelError) },
  ConfigMapVolumeSource: named,
  SecretVolumeSource: { secretName: required, defaultMode: fileMode },
  ConfigMapProjection: { name: required },
  SecretProjection: { name: required },
  KeyToPath: { key: required, path: requiredText(projectedPathError), mode: fileMode },
  ProjectedVolumeSource: { self: projections, defaultMode: fileMode },
  ServiceAccountTokenProjection: { path: anything, expirationSeconds: between(600, 2 ** 32) },
  DownwardAPIVolumeSource: { defaultMode: fileMode },
  DownwardAPIVolumeFile: { self: downwardFile, path: anything, mode: fileMode },
  EmptyDirVolumeSource: {
    sizeLimit: (value, { path }) =>
      String(value).startsWith('-')
        ? [statusCause.forbidden(path, 'SizeLimit field must be a valid resource quantity')]
        : [],
  },
  HostPathVolumeSource: {
    path: requiredText(backstepError),
    type: (value, place) =>
      isEmpty(getMap(place.parent).path)
        ? []
        : among(
            '',
            'BlockDevice',
            'CharDevice',
            'Directory',
            'DirectoryOrCreate',
            'File',
            'FileOrCreate',
            'Socket',
          )(value, place),
  },
  PersistentVolumeClaimVolumeSource: { claimName: required },
  NFSVolumeSource: {
    server: required,
    path: all(required, (value = '', { path }) =>
      String(value).startsWith('/') ? [] : [statusCause.invalid(path, shown(value), 'must be an absolute path')],
    ),
  },
  CSIVolumeSource: { driver: requiredText((driver) => driverError(driver)) },
  EphemeralVolumeSource: { volumeClaimTemplate: required },
  AWSElasticBlockStoreVolumeSource: { volumeID: required, partition: between(0, 255) },
  GCEPersistentDiskVolumeSource: { pdName: required, partition: between(0, 255) },
  GitRepoVolumeSource: { repository: required, directory: text(relativePathError) },
};

/** Validates the name of a CSI driver. */
export function driverError(driver: string): string | undefined {
  if (driver.length > 63) return 'may not be more than 63 bytes';
  return subdomainError(driver.toLowerCase());
}

/** Returns the names of volumes with one source, which mounts can name. */
export function volumeNames(volumes: readonly Json[]): readonly string[] {
  const hasOne = (volume: Json) => sources.filter((source) => getMap(volume)[source] !== undefined).length === 1;
  return volumes.filter(hasOne).map((volume) => getString(volume, 'name'));
}
