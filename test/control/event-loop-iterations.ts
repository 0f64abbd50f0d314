/** Event loop iterations during the work. */
export async function eventLoopIterationsDuring(work: () => Promise<unknown>): Promise<number> {
  let iterations = 0;
  let next: NodeJS.Immediate;
  const count = () => {
    iterations++;
    next = setImmediate(count);
  };
  next = setImmediate(count);
  try {
    await work();
  } finally {
    clearImmediate(next);
  }
  return iterations;
}
