/** Mirrors DEFAULT_CUSTOMER_ID of src/control/accounts/roles.ts. */
export const DEFAULT_CUSTOMER_ID = 'house';
