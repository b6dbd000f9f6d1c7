/** Preloaded into a process, stops its clock at FUNDFEED_TEST_CLOCK, in milliseconds since 1970 UTC. */
const now = Number(process.env.FUNDFEED_TEST_CLOCK);
Date.now = () => now;
