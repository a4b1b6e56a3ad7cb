package dialect

// Memory returns the memory of a set, to compare it with that of another one.
func (s *Set) Memory() any { return s.memory }
