// What a controller's children may have beyond the default, which is nothing that reaches outside of their pods. A
// generated admission policy holds the controller's identity to it, also with stolen credentials.

/** The privileges of a controller's children. Each absent one is refused in every pod template and Service. */
export type Allows = {
  /** Pods run as a service account other than `default`. With it: Secrets that are tokens of service accounts. */
  readonly serviceAccountName?: true;
  /**
   * Pods get the token of their service account, with what the cluster grants to it. Kubernetes mounts it by default:
   * without this and without `serviceAccountName` a pod must have `automountServiceAccountToken: false`.
   */
  readonly automountServiceAccountToken?: true;
  /** `hostNetwork`, `hostPID`, `hostIPC`, and the `host` of probes and hooks, which the kubelet calls from its node. */
  readonly hostNamespaces?: true;
  /** A port of the node (`hostPort`). */
  readonly hostPorts?: true;
  /** Privileged containers, privilege escalation, capabilities, sysctls, SELinux labels, and profiles that are off. */
  readonly privileged?: true;
  /** Pods read Secrets, as volumes or as variables. An identity with this can read every Secret of the namespace. */
  readonly secrets?: true;
  /** A node by its name, which the scheduler is not asked about. */
  readonly nodeName?: true;
  /** A PriorityClass, by which other pods may be evicted. */
  readonly priorityClassName?: true;
  /** Types of volumes beside configMap, emptyDir, persistentVolumeClaim and downwardAPI, such as `hostPath`, `csi`. */
  readonly volumes?: readonly string[];
  /** Types of Services beside ClusterIP. */
  readonly serviceTypes?: readonly ('NodePort' | 'LoadBalancer' | 'ExternalName')[];
  /** Services have `externalIPs`, with which they can take the traffic to any address. */
  readonly externalIPs?: true;
  /** Objects of its owned kinds that have no controller become its children, by an apply with `adopt: true`. */
  readonly adoption?: true;
  /**
   * The ClusterRoles that RoleBindings and ClusterRoleBindings may name. The generated role has `bind` on these: the
   * API server refuses a binding to permissions that its creator lacks.
   */
  readonly clusterRoles?: readonly string[];
  /**
   * The permissions that Roles and ClusterRoles may grant, in addition to those of `owns` and `reads`. The generated
   * role has them too, because the API server refuses a role with permissions that its creator lacks. No policy narrows
   * them.
   */
  readonly grants?: readonly PolicyRule[];
};

/** Permissions, as a rule of a Role has them. */
export type PolicyRule = {
  /** The groups; `''` is the core group. */
  readonly apiGroups: readonly string[];
  /** The plurals, such as `pods`, with subresources as in `pods/log`. */
  readonly resources: readonly string[];
  /** The verbs, such as `get` and `list`. */
  readonly verbs: readonly string[];
  /** The only objects, by name. Absent: all. */
  readonly resourceNames?: readonly string[];
};
