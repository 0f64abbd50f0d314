/** A nominal type: `Brand<bigint, 'Slot'>` is assignable to bigint, but a bigint is not a Slot. */
export type Brand<Base, Name extends string> = Base & { readonly __brand: Name };
