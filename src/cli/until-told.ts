/**
 * Resolves when the program is told to stop: by SIGTERM or SIGINT, or because the parent that started it with a
 * channel is gone. A second signal ends the program at once.
 */
export function untilTold(): Promise<string> {
  return new Promise((resolve) => {
    const told = (why: string) => {
      process.once('SIGINT', () => process.exit(130));
      process.once('SIGTERM', () => process.exit(143));
      resolve(why);
    };
    process.once('SIGTERM', () => told('SIGTERM'));
    process.once('SIGINT', () => told('SIGINT'));
    if (process.channel === undefined) return;
    process.once('disconnect', () => told('the parent process is gone'));
    // Listening to the channel must not keep a process that is done from ending.
    process.channel.unref();
  });
}
