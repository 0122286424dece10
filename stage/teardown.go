package stage

// Teardown makes the stage the one that takes down what setup has set up: it runs once all stages that it comes after have
// ended, whatever became of them and also if the run was cancelled, provided that setup succeeded; otherwise it is skipped. setup
// counts as one of its upstreams, and its trigger rule is not asked. Only a forced cancel keeps it from running. As with
// every stage, its own failure fails the run.
func Teardown[P any](setup Node[P]) Option {
	return option(func(d *Def) {
		if setup == nil || setup.Def() == nil {
			d.fault("Teardown needs the stage that sets up")
			return
		}
		if d.Kind == Aligned {
			d.fault("Teardown does not fit an aligned stage, whose shards follow shards: use a stage of its own")
			return
		}
		if d.TeardownOf != nil {
			d.fault("the stage takes down %q already: it can take down one stage", d.TeardownOf.Name)
			return
		}
		d.TeardownOf = setup.Def()
		d.After(setup.Def())
	})
}
