package metamorph

// features are the parts of AX that scenarios use.
var features = struct {
	when, tolerance, keys, rates, teardown bool
	holds, levels, marks, shards, dead     bool
	repair                                 bool // a retry revives aligned shards that were given up
	alignedTolerance                       bool
}{when: true, tolerance: true, rates: true, keys: true, teardown: true, repair: true, alignedTolerance: true, levels: true, marks: true, shards: true, holds: true, dead: true}

// verbs are the operators' acts that may come at any moment.
func verbs() []act {
	all := []act{cancelRun, forceCancel, retryRun, rerunStage}
	if features.holds {
		all = append(all, pauseRun, pauseFlow, pauseQueue)
	}
	if features.levels {
		all = append(all, setLevel)
	}
	if features.marks {
		all = append(all, skipStage, markSuccess)
	}
	if features.shards {
		all = append(all, retryShards, rerunShard)
	}
	if features.dead {
		all = append(all, discardDead)
	}
	return all
}

// quietVerbs are those whose outcome the model knows when nothing else runs.
func quietVerbs() []act {
	all := []act{retryRun, retryRun, rerunStage, rerunStage}
	if features.shards {
		all = append(all, retryShards, rerunShard, rerunShard)
	}
	return all
}
