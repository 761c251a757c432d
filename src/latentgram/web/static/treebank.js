// The treebank: its trees, found by words or patterns, opened again, changed, deleted; and the history.

export function startTreebank() {}

export async function showTreebank() {}
