/** Ordered by rights: each role includes those after it. */
export const memberRoles = ['owner', 'admin', 'developer', 'viewer'] as const;
export type MemberRole = (typeof memberRoles)[number];

/** Keys of a suspended customer are rejected; its members have read access. */
export const customerStates = ['active', 'suspended'] as const;
export type CustomerState = (typeof customerStates)[number];

/** The built-in customer for the operator's own keys. The stored id stays `house`. */
export const DEFAULT_CUSTOMER_ID = 'house';

export const roleAllows = (role: MemberRole, required: MemberRole): boolean =>
  memberRoles.indexOf(role) <= memberRoles.indexOf(required);
