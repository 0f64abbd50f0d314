/** What a member of a customer may do, the most first. Each role may all that the roles behind it may. */
export const memberRoles = ['owner', 'admin', 'developer', 'viewer'] as const;
export type MemberRole = (typeof memberRoles)[number];

/** A customer that is suspended has keys that are refused, and members who can only look. */
export const customerStates = ['active', 'suspended'] as const;
export type CustomerState = (typeof customerStates)[number];

/** The customer that keys belong to which the operator makes for itself; every store has it. */
export const DEFAULT_CUSTOMER_ID = 'house';

/** Whether whoever has `role` may do what needs `needed`. */
export const roleAllows = (role: MemberRole, needed: MemberRole): boolean =>
  memberRoles.indexOf(role) <= memberRoles.indexOf(needed);
