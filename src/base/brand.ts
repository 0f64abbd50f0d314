/**
 * A type that only its own parser may make: `Brand<bigint, 'Slot'>` is a bigint everywhere, but a bigint is
 * not a Slot. Costs nothing at run time.
 */
export type Brand<Base, Name extends string> = Base & { readonly __brand: Name };
