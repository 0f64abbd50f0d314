/**
 * Options over what holds when nothing else is said. What either computes whenever it is read goes on being computed, so
 * that options which change while the service runs are seen by whoever reads them at each use.
 */
export function withDefaults<Options extends object>(
  defaults: Options,
  options: Partial<Options> = {},
): Options {
  const members = {
    ...Object.getOwnPropertyDescriptors(defaults),
    ...Object.getOwnPropertyDescriptors(options),
  };
  return Object.defineProperties({}, members) as Options;
}
