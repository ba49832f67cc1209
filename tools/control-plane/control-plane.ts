// The options and the interface of a control plane for tests. start.ts starts one.
import type { ObjectCopy, PutCopiesOptions } from './etcd-copies.ts';

/**
 * A user that the API server authenticates by a token, in addition to the admin. Without groups RBAC allows it only
 * discovery.
 */
export type ControlPlaneUser = {
  readonly name: string;
  readonly token?: string;
  readonly groups?: readonly string[];
};

/** The options of a control plane. */
export type ControlPlaneOptions = {
  /** Also runs kube-controller-manager: garbage collection, Deployments to Pods, EndpointSlices. */
  readonly controllerManager?: boolean;
  readonly controllerManagerFlags?: readonly string[];
  readonly users?: readonly ControlPlaneUser[];
  readonly apiServerFlags?: readonly string[];
  readonly etcdFlags?: readonly string[];
  /** Records every request with its body; read them with `auditEvents`. */
  readonly auditLog?: boolean;
  /** Admission plug-ins in addition to the default ones, for example `OwnerReferencesPermissionEnforcement`. */
  readonly enableAdmission?: readonly string[];
};

/** One line of the API server's audit log, reduced to the fields that tests read. */
export type AuditEvent = {
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  readonly userAgent?: string;
  readonly objectRef?: {
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly apiGroup?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  readonly requestObject?: unknown;
};

/** The address and credentials of one user. It is a `Connection` of src/kube. */
export type ControlPlaneConnection = {
  readonly server: URL;
  readonly ca: string;
  token(): Promise<string>;
};

/** A running control plane. Users are named as in the options; no name means the admin, a member of system:masters. */
export type ControlPlane = {
  readonly url: string;
  /** PEM of the authority that signed the server's certificate. */
  readonly ca: string;
  readonly adminToken: string;
  readonly kubectlPath: string;
  /** Returns the path of a kubeconfig file for that user. */
  kubeconfig(user?: string): string;
  connection(user?: string): ControlPlaneConnection;
  /** Returns the completed requests so far, oldest first. Needs `auditLog: true`. */
  auditEvents(): Promise<AuditEvent[]>;
  /** Stops everything and removes the folder. */
  stop(): Promise<void>;
  /** Kills the API server with SIGKILL. Its port is free until `restartApiServer`, so another process may take it. */
  kill9ApiServer(): Promise<void>;
  /** Restarts the API server with the same address and data; resolves when it is ready. */
  restartApiServer(): Promise<void>;
  /** Compacts etcd up to its present revision. The watch cache of the API server may still have older ones. */
  compact(): Promise<void>;
  /** Writes copies of the object at a key into etcd (etcd-copies.ts): many objects in little time. */
  putCopies(key: string, copies: readonly ObjectCopy[], options?: PutCopiesOptions): Promise<void>;
  /** Backs up etcd's data, replacing an older backup. The API server is unavailable meanwhile. */
  backUp(): Promise<void>;
  /** Restores etcd from the backup, with the same address of the API server. */
  restore(): Promise<void>;
  /** Gives the namespace kube-system another uid, by which a cluster is identified, and restarts the API server. */
  renewIdentity(): Promise<void>;
  /** The processes of the API server and of etcd that run now. */
  pids(): { readonly apiServer: number; readonly etcd: number };
  /** Freezes the API server: connections stay open without any data. */
  pauseApiServer(): void;
  resumeApiServer(): void;
};
