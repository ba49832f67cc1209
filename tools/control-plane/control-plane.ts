// What a test may ask of a control plane and what it gets. start.ts starts one.
import type { Copy, Stamping } from '../../test/control-plane/stamp-etcd.ts';

/** A user the API server knows by a token, beside the admin. Without groups RBAC gives it nothing but discovery. */
export interface ControlPlaneUser {
  readonly name: string;
  readonly token?: string;
  readonly groups?: readonly string[];
}

/** What a test may ask of its control plane. */
export interface ControlPlaneOptions {
  /** Runs kube-controller-manager too: garbage collection, Deployments to Pods, EndpointSlices. */
  readonly controllerManager?: boolean;
  readonly controllerManagerFlags?: readonly string[];
  readonly users?: readonly ControlPlaneUser[];
  readonly apiServerFlags?: readonly string[];
  readonly etcdFlags?: readonly string[];
  /** Records every request with its body; read it with `auditEvents`. */
  readonly auditLog?: boolean;
  /** Admission plug-ins beside the default ones, as `OwnerReferencesPermissionEnforcement`. */
  readonly enableAdmission?: readonly string[];
}

/** One line of the API server's audit log, as far as tests look at it. */
export interface AuditEvent {
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
}

/** How to reach the API server as one user. It fits `Connection` of src/kube. */
export interface ControlPlaneConnection {
  readonly server: URL;
  readonly ca: string;
  token(): Promise<string>;
}

/** A running control plane. Users are named as in the options; no name means the admin, a member of system:masters. */
export interface ControlPlane {
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
  /** Kills the API server as a crash would; its address stays reserved for `restartApiServer` only by luck. */
  kill9ApiServer(): Promise<void>;
  /** Starts the API server again on the same address and data, killing it first where it runs; resolves when it is ready. */
  restartApiServer(): Promise<void>;
  /** Makes etcd forget every version before its present one. The API server may still remember some, until it starts again. */
  compact(): Promise<void>;
  /** Puts copies of what etcd holds at a key beside it (stamp-etcd.ts): many objects in little time. */
  stamp(key: string, copies: readonly Copy[], stamping?: Stamping): Promise<void>;
  /** Copies what etcd holds, in place of an older copy. The API server is away meanwhile. */
  backUp(): Promise<void>;
  /** Puts etcd back to the copy, as an operator does from a backup, under the API server's address. */
  restore(): Promise<void>;
  /** Freezes the API server: connections stay open and say nothing. */
  pauseApiServer(): void;
  resumeApiServer(): void;
}
