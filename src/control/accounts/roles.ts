/** Ordered from most to fewest rights: each role includes the rights of all later roles. */
export const memberRoles = ['owner', 'admin', 'developer', 'viewer'] as const;
export type MemberRole = (typeof memberRoles)[number];

/** Keys of a suspended customer are rejected. Its members can still read and leave, but owners can only read. */
export const customerStates = ['active', 'suspended'] as const;
export type CustomerState = (typeof customerStates)[number];

/** A deleted customer keeps only its id. The control API has no such customer, and all its keys are revoked. */
export type StoredCustomerState = CustomerState | 'deleted';

/** The built-in customer, for the operator's own keys. Databases store this id, so it must not change. */
export const DEFAULT_CUSTOMER_ID = 'house';

export const roleAllows = (role: MemberRole, required: MemberRole): boolean =>
  memberRoles.indexOf(role) <= memberRoles.indexOf(required);
